"""CLI agents as providers: what each of them is, where it is found, how it is run."""
