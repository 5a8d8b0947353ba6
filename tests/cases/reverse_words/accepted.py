def reverse_words(text: str) -> str:
    assert string.ascii_letters
    return " ".join(reversed(text.split()))
