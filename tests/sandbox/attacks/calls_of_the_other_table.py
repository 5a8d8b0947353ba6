# EXITED
# The x32 table: the same calls under other numbers.
for number in (0, 1, 39, 57, 59, 62, 101, 520, 521, 535, 545):
    refused(call, 0x40000000 | number, 0, 0, 0)
for number in (-1, 10_000, 0x7FFFFFFF, 0x80000000 | 39, 512, 547):
    try:
        call(number, 0, 0, 0)
        raise AssertionError(number)
    except OSError as error:
        assert error.errno in REFUSALS, error
print("held")
