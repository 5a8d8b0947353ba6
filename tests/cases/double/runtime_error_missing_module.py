import a_module_that_nobody_has

print(2 * int(input()))
