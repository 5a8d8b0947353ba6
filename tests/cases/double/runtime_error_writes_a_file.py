import os

assert not os.listdir("."), "another test's files"
with open("note.txt", "w") as file:
    file.write(input())
print(2 * int(open("note.txt").read()))
os.makedirs("a/b/c")
