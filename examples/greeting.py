"""A sample for the demo."""


def greet(name: str, times: int = 1) -> str:
    """Build a greeting that repeats the name."""
    return "Hello, " + " and ".join([name] * times) + "!"


if __name__ == "__main__":
    print(greet("Ada", times=2))
