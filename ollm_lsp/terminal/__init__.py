"""Commands for people at a terminal: chat, doctor, models."""
