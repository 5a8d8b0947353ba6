print(2 * int(input()))
raise SystemExit("a text is exit code 1")
