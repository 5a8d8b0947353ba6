print("mean nan")
