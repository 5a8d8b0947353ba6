def main():
    print(2 * int(input()))


if __name__ == "__main__":
    main()
