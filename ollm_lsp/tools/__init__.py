"""Tools that a model may call, and the rules by which they are called."""
