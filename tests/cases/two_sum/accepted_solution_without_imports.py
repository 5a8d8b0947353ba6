class Solution:
    def twoSum(self, nums: List[int], target: int) -> Optional[List[int]]:
        seen = defaultdict(lambda: None)
        for i, number in enumerate(nums):
            if seen[target - number] is not None:
                return [seen[target - number], i]
            seen[number] = i
