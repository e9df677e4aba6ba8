"""The pure heart: messages, events, conversations and the chat loop. It does no I/O."""
