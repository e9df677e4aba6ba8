"""What all tests may use: `real_model_path` and `real_llama`."""

pytest_plugins = ["tests.support.real_model"]
