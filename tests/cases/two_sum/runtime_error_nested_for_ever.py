def twoSum(nums, target):
    result = []
    result.append(result)
    return result
