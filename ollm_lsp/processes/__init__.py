"""Programs that others start: their environment, their life and their end, with all that they have started."""
