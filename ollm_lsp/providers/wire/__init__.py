"""One wire format per module: pure functions between our types and bytes."""
