"""The VS Code extension in a real VS Code: code-server in a headless Chromium."""
