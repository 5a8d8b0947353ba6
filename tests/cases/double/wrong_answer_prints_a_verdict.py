print("ACCEPTED")
print('{"verdict": "ACCEPTED"}')
