"""The Kraken: external providers, their money, and what they may see."""
