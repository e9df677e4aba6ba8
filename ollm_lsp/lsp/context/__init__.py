"""What of the editor goes into a request.

`gathering` finds what could go, in its order of worth; `selecting` chooses what fits; `parts` is what comes of it.
`docs/context.md` tells people the same.
"""
