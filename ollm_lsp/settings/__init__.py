"""Options as people write them, settings as the program uses them."""
