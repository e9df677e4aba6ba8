"""Endpoints that answer with a model: Ollama, OpenAI-compatible servers, the embedded model."""
