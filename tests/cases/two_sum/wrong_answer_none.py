def twoSum(nums, target):
    pass
