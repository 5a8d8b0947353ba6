"""Tests with programs for them, right and wrong ones, all of them honest: what plain Python says of each is the truth.

Covered: what assertions are written about, in the forms that data sets have.
Not covered: programs that cheat (`test_checker_attacks`).
"""

from __future__ import annotations

# name: (tests, a right program, wrong ones …)
PAIRS: dict[str, tuple[str, ...]] = {
    "dataclass eq": (
        "assert P(1, 2) == P(1, 2)\nassert f(P(1, 2)) == P(2, 1)\nassert P(1, 2) != P(1, 3)",
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\n"
            "def f(p): return P(p.y, p.x)"
        ),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\ndef f(p): return p"),
    ),
    "vector times number": (
        "v = V(1, 2)\nassert v * 2 == V(2, 4)\nassert 2 * v == V(2, 4)\nassert (v + v).x == 2",
        (
            "class V:\n    def __init__(s, x, y): s.x, s.y = x, y\n"
            "    def __mul__(s, k): return V(s.x * k, s.y * k)\n    __rmul__ = __mul__\n"
            "    def __add__(s, o): return V(s.x + o.x, s.y + o.y)\n"
            "    def __eq__(s, o): return (s.x, s.y) == (o.x, o.y)"
        ),
    ),
    "eq with plain": (
        "assert M(5) == 5\nassert M(5) != 4\nassert M(3) < 4",
        (
            "class M:\n    def __init__(s, v): s.v = v\n"
            "    def __eq__(s, o): return s.v == (o.v if isinstance(o, M) else o)\n"
            "    def __lt__(s, o): return s.v < (o.v if isinstance(o, M) else o)"
        ),
    ),
    "contains": (
        "t = Trie()\nt.insert('ab')\nassert 'ab' in t\nassert 'a' not in t",
        (
            "class Trie:\n    def __init__(s): s.w = set()\n    def insert(s, w): s.w.add(w)\n"
            "    def __contains__(s, w): return w in s.w"
        ),
        "class Trie:\n    def insert(s, w): pass\n    def __contains__(s, w): return False",
    ),
    "stack": (
        "s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert len(s) == 1\nassert s.peek() == 1",
        (
            "class Stack:\n    def __init__(s): s.i = []\n    def push(s, x): s.i.append(x)\n"
            "    def pop(s): return s.i.pop()\n    def peek(s): return s.i[-1]\n"
            "    def __len__(s): return len(s.i)"
        ),
        (
            "class Stack:\n    def __init__(s): s.i = []\n    def push(s, x): s.i.append(x)\n"
            "    def pop(s): return s.i.pop(0)\n    def peek(s): return s.i[-1]\n"
            "    def __len__(s): return len(s.i)"
        ),
    ),
    "custom exception": (
        (
            "try:\n    f(-1)\n    assert False\nexcept BadInput as e:\n"
            "    assert e.code == 3 and str(e) == 'bad'\nassert f(1) == 1"
        ),
        (
            "class BadInput(ValueError):\n    def __init__(s, m, code):\n        super().__init__(m)\n"
            "        s.code = code\ndef f(x):\n    if x < 0: raise BadInput('bad', 3)\n    return x"
        ),
        "class BadInput(ValueError): pass\ndef f(x): return x",
    ),
    "nested exception": (
        ("s = Stack()\ntry:\n    s.pop()\n    assert False\nexcept Stack.Empty:\n    pass\nassert s.size() == 0"),
        (
            "class Stack:\n    class Empty(Exception): pass\n    def pop(s): raise Stack.Empty\n"
            "    def size(s): return 0"
        ),
    ),
    "generator send": (
        "g = f()\nassert next(g) == 1\nassert g.send(5) == 6\ng.close()",
        "def f():\n    x = 1\n    while True:\n        y = yield x\n        x = (y or 0) + 1",
    ),
    "generator": (
        "g = f(3)\nassert next(g) == 0\nassert list(g) == [1, 2]",
        "def f(n): yield from range(n)",
        "def f(n): return iter([0, 1])",
    ),
    "generator state after": (
        "g = f()\nassert next(g) == 1\nassert next(g) == 2\nassert next(g, 'end') == 'end'",
        "def f():\n    yield 1\n    yield 2",
    ),
    "numpy in place": (
        "import numpy as np\na = np.array([3, 1, 2])\nf(a)\nassert a.tolist() == [1, 2, 3]",
        "def f(a): a.sort()",
        "def f(a): pass",
    ),
    "numpy": (
        (
            "import numpy as np\nfor n in [2, 3]:\n    a = f(np.eye(n))\n"
            "    assert a.shape == (n, n) and np.allclose(a, 2 * np.eye(n)) and a.dtype == float"
        ),
        "def f(a): return a * 2",
        "def f(a): return a",
    ),
    "namedtuple of tests": (
        ("from collections import namedtuple\nP = namedtuple('P', 'x y')\nfor i in [1]:\n    assert f(P(1, 2)) == 3"),
        "def f(p): return p.x + p.y",
    ),
    "defaultdict arg": (
        (
            "from collections import defaultdict\nd = defaultdict(int)\nf(d, 'abca')\n"
            "assert d['a'] == 2 and dict(d) == {'a': 2, 'b': 1, 'c': 1}"
        ),
        "def f(d, s):\n    for c in s: d[c] += 1",
    ),
    "defaultdict returned": (
        "d = f('abca')\nassert d['a'] == 2\nassert d['z'] == 0",
        (
            "from collections import defaultdict\ndef f(s):\n    d = defaultdict(int)\n"
            "    for c in s: d[c] += 1\n    return d"
        ),
    ),
    "asyncio": (
        "import asyncio\nassert asyncio.run(f(1)) == 2\nassert asyncio.run(f(2)) == 3",
        "async def f(x): return x + 1",
        "async def f(x): return x",
    ),
    "async gather": (
        (
            "import asyncio\nasync def main():\n    return await asyncio.gather(f(1), f(2))\n"
            "assert asyncio.run(main()) == [2, 3]"
        ),
        "async def f(x): return x + 1",
    ),
    "decorator by solution": (
        (
            "@memo\ndef g(x):\n    calls.append(x)\n    return x * 2\ncalls = []\nassert g(2) == 4\n"
            "assert g(2) == 4\nassert calls == [2]"
        ),
        (
            "def memo(h):\n    c = {}\n    def w(x):\n        if x not in c: c[x] = h(x)\n        return c[x]\n"
            "    return w"
        ),
        "def memo(h): return h",
    ),
    "callback exceptions": (
        "def bad(): raise KeyError('x')\nassert f(bad) == 'caught'\nassert f(lambda: 1) == 1",
        "def f(g):\n    try: return g()\n    except KeyError: return 'caught'",
    ),
    "callback custom exception": (
        (
            "class E(Exception): pass\ndef bad(): raise E('x')\ntry:\n    f(bad)\n    assert False\n"
            "except E as e:\n    assert str(e) == 'x'"
        ),
        "def f(g): return g()",
    ),
    "context manager": (
        "with f('a') as c:\n    assert c.name == 'a'\nassert c.closed",
        (
            "class C:\n    closed = False\n    def __enter__(s): return s\n"
            "    def __exit__(s, *a): s.closed = True\ndef f(n):\n    c = C()\n    c.name = n\n    return c"
        ),
    ),
    "context suppress": (
        "with f():\n    raise ValueError\nassert f",
        "import contextlib\ndef f(): return contextlib.suppress(ValueError)",
    ),
    "context manager sees exc": (
        ("t = T()\ntry:\n    with t:\n        raise ValueError('x')\nexcept ValueError: pass\nassert t.rolled == True"),
        (
            "class T:\n    rolled = False\n    def __enter__(s): return s\n    def __exit__(s, k, e, t):\n"
            "        s.rolled = k is not None"
        ),
    ),
    "property / setattr": (
        (
            "c = C()\nc.v = 5\nassert c.double == 10\ntry:\n    c.double = 3\n    assert False\n"
            "except AttributeError:\n    pass"
        ),
        "class C:\n    @property\n    def double(s): return s.v * 2",
    ),
    "class attribute": (
        "assert C.count == 0\nC()\nC()\nassert C.count == 2\nassert C.make(3).v == 3",
        (
            "class C:\n    count = 0\n    def __init__(s, v=0):\n        C.count += 1\n        s.v = v\n"
            "    @classmethod\n    def make(cls, v): return cls(v)"
        ),
    ),
    "subclass in tests": (
        "class D(C):\n    def g(self): return self.h() + 1\nassert D().g() == 2",
        "class C:\n    def h(s): return 1",
    ),
    "isinstance": (
        "s = C()\nassert isinstance(s, C)\nassert isinstance(s, B)\nassert issubclass(C, B)",
        "class B: pass\nclass C(B): pass",
    ),
    "sorted objects": (
        "xs = sorted([C(3), C(1), C(2)])\nassert [x.v for x in xs] == [1, 2, 3]\nassert max(xs).v == 3",
        (
            "import functools\n@functools.total_ordering\nclass C:\n    def __init__(s, v): s.v = v\n"
            "    def __lt__(s, o): return s.v < o.v\n    def __eq__(s, o): return s.v == o.v"
        ),
    ),
    "set of objects": (
        "assert len({C(1), C(1), C(2)}) == 2",
        (
            "class C:\n    def __init__(s, v): s.v = v\n    def __hash__(s): return s.v\n"
            "    def __eq__(s, o): return s.v == o.v"
        ),
        "class C:\n    def __init__(s, v): s.v = v",
    ),
    "enum": (
        (
            "assert f() is Colour.RED\nassert f() == Colour.RED\n"
            "assert f().value == 1 and Colour['RED'] is f() and len(list(Colour)) == 2"
        ),
        "from enum import Enum\nclass Colour(Enum):\n    RED = 1\n    BLUE = 2\ndef f(): return Colour.RED",
    ),
    "repr str": (
        "p = P(1)\nassert repr(p) == 'P(1)'\nassert str(p) == 'P(1)'\nassert f'{p}' == 'P(1)'",
        "class P:\n    def __init__(s, x): s.x = x\n    def __repr__(s): return f'P({s.x})'",
    ),
    "format spec": (
        "p = P()\nassert f'{p:>3}' == '>3'",
        "class P:\n    def __format__(s, x): return x",
    ),
    "item access": (
        (
            "m = M()\nm['a'] = 1\nassert m['a'] == 1\ndel m['a']\ntry:\n    m['a']\n    assert False\n"
            "except KeyError:\n    pass"
        ),
        (
            "class M:\n    def __init__(s): s.d = {}\n    def __getitem__(s, k): return s.d[k]\n"
            "    def __setitem__(s, k, v): s.d[k] = v\n    def __delitem__(s, k): del s.d[k]"
        ),
    ),
    "iterable class": (
        ("assert list(C(3)) == [0, 1, 2]\nassert [x for x in C(2)] == [0, 1]\na, b = C(2)\nassert a == 0 and b == 1"),
        "class C:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return iter(range(s.n))",
    ),
    "iterator class": (
        "c = C()\nassert next(c) == 1\nassert list(c) == [2, 3]",
        (
            "class C:\n    n = 0\n    def __iter__(s): return s\n    def __next__(s):\n        s.n += 1\n"
            "        if s.n > 3: raise StopIteration\n        return s.n"
        ),
    ),
    "callable class": (
        "c = C(2)\nassert c(3) == 5\nassert callable(c)",
        "class C:\n    def __init__(s, k): s.k = k\n    def __call__(s, x): return s.k + x",
    ),
    "inplace add": (
        "c = C(1)\nc += C(2)\nassert c.v == 3",
        "class C:\n    def __init__(s, v): s.v = v\n    def __add__(s, o): return C(s.v + o.v)",
    ),
    "matrix mul": (
        "m = M(2) @ M(3)\nassert m.v == 6\nassert (-m).v == -6",
        (
            "class M:\n    def __init__(s, v): s.v = v\n    def __matmul__(s, o): return M(s.v * o.v)\n"
            "    def __neg__(s): return M(-s.v)"
        ),
    ),
    "hashable key": (
        "d = {C(1): 'a'}\nassert d[C(1)] == 'a'",
        (
            "class C:\n    def __init__(s, v): s.v = v\n    def __hash__(s): return s.v\n"
            "    def __eq__(s, o): return s.v == o.v"
        ),
    ),
    "alias of arg and result": (
        "x = [1]\ny = f(x)\ny.append(2)\nassert x == [1, 2]",
        "def f(x): return x",
        "def f(x): return x[:]",
    ),
    "no alias kept state": (
        "c = C()\nx = [1]\nc.set(x)\nx.append(2)\nassert c.get() == [1, 2]",
        "class C:\n    def set(s, x): s.x = x\n    def get(s): return s.x",
    ),
    "copies state": (
        "c = C()\nx = [1]\nc.set(x)\nx.append(2)\nassert c.get() == [1]",
        "class C:\n    def set(s, x): s.x = list(x)\n    def get(s): return s.x",
    ),
    "returned list is internal": (
        "c = C()\nc.get().append(1)\nassert c.get() == [1]",
        "class C:\n    def __init__(s): s.x = []\n    def get(s): return s.x",
    ),
    "returned list is a copy": (
        "c = C()\nc.get().append(1)\nassert c.get() == []",
        "class C:\n    def __init__(s): s.x = []\n    def get(s): return list(s.x)",
        "class C:\n    def __init__(s): s.x = []\n    def get(s): return s.x",
    ),
    "attribute list changed": (
        "c = C()\nc.items.append(3)\nassert c.items == [3]",
        "class C:\n    def __init__(s): s.items = []",
    ),
    "swapped lists": (
        "a, b = [1], [2]\nf(a, b)\nassert a == [2] and b == [1]",
        "def f(a, b): a[:], b[:] = b[:], a[:]",
        "def f(a, b): a, b = b, a",
    ),
    "nested in place": (
        "m = [[1, 2], [3, 4]]\nf(m)\nassert m == [[1, 3], [2, 4]]",
        "def f(m):\n    for i in range(2):\n        for j in range(i): m[i][j], m[j][i] = m[j][i], m[i][j]",
    ),
    "tuple of lists in place": (
        "t = ([1], [2])\nf(t)\nassert t == ([1, 9], [2])",
        "def f(t): t[0].append(9)",
    ),
    "random seed": (
        "import random\nrandom.seed(1)\na = f()\nrandom.seed(1)\nassert f() == a",
        "import random\ndef f(): return random.random()",
        "import time\ndef f(): return time.monotonic_ns()",
    ),
    "random seed fixed": (
        "import random\nrandom.seed(1)\nassert f() == 17",
        "import random\ndef f(): return random.randint(0, 100)",
    ),
    "capture": (
        (
            "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    f('x')\n"
            "    print('y')\nassert b.getvalue() == 'x\\ny\\n'"
        ),
        "def f(x): print(x)",
        "def f(x): pass",
    ),
    "stderr capture": (
        (
            "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stderr(b):\n    f('x')\n"
            "assert b.getvalue() == 'x\\n'"
        ),
        "import sys\ndef f(x): print(x, file=sys.stderr)",
    ),
    "mock": (
        ("from unittest.mock import Mock\nm = Mock(return_value=3)\nassert f(m, 1) == 3\nm.assert_called_once_with(1)"),
        "def f(g, x): return g(x)",
        "def f(g, x): return 3",
    ),
    "recursion": (
        "for n in [10, 900]:\n    assert f(n) == n",
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)",
    ),
    "deep recursion": (
        "for n in [20000]:\n    assert f(n) == n",
        "import sys\nsys.setrecursionlimit(10 ** 6)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)",
    ),
    "closures": (
        "c = f()\nassert c() == 1 and c() == 2\nd = f()\nassert d() == 1 and c() == 3",
        ("def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g"),
        "n = 0\ndef f():\n    def g():\n        global n\n        n += 1\n        return n\n    return g",
    ),
    "function attributes": (
        "assert f.__name__ == 'f'\nassert f.__doc__ == 'Doc.'\nassert f(1) == 1",
        'def f(x):\n    "Doc."\n    return x',
    ),
    "inspect signature": (
        "import inspect\nassert list(inspect.signature(f).parameters) == ['a', 'b']\nassert f(1, 2) == 3",
        "def f(a, b): return a + b",
    ),
    "keyword only": (
        ("for k in [1]:\n    assert f(1, k=k) == 2\ntry:\n    f(1, 2)\n    assert False\nexcept TypeError:\n    pass"),
        "def f(a, *, k): return a + k",
        "def f(a, k): return a + k",
    ),
    "raises match": (
        "import pytest\nwith pytest.raises(ValueError, match=r'neg.*3'):\n    f(-3)\nassert f(1) == 1",
        "def f(x):\n    if x < 0: raise ValueError(f'negative: {x}')\n    return x",
        "def f(x):\n    if x < 0: raise ValueError('no')\n    return x",
    ),
    "raises info": (
        (
            "import pytest\nwith pytest.raises(ValueError) as e:\n    f(-3)\n"
            "assert 'negative' in str(e.value)\nassert e.type is ValueError"
        ),
        "def f(x): raise ValueError('negative')",
    ),
    "exc chain": (
        ("try:\n    f()\n    assert False\nexcept RuntimeError as e:\n    assert isinstance(e.__cause__, ValueError)"),
        "def f():\n    try: int('x')\n    except ValueError as e: raise RuntimeError('no') from e",
    ),
    "exc is caught by base": (
        ("for x in [0]:\n    try:\n        f(x)\n        assert False\n    except ArithmeticError:\n        pass"),
        "def f(x): return 1 / x",
        "def f(x): return 0",
    ),
    "KeyError str": (
        ("try:\n    f()\n    assert False\nexcept KeyError as e:\n    assert str(e) == \"'a'\" and e.args == ('a',)"),
        "def f(): return {}['a']",
    ),
    "OSError errno": (
        "try:\n    f()\n    assert False\nexcept FileNotFoundError as e:\n    assert e.errno == 2",
        "def f(): raise FileNotFoundError(2, 'no', 'x')",
    ),
    "Fraction/Decimal": (
        (
            "from decimal import Decimal\nfrom fractions import Fraction\nfor i in [1]:\n"
            "    assert f(Fraction(1, 3)) == Fraction(2, 3) and f(Decimal('1.10')) == Decimal('2.20')"
        ),
        "def f(x): return x * 2",
    ),
    "datetime tz": (
        (
            "from datetime import datetime, timezone\nt = datetime(2020, 1, 1, tzinfo=timezone.utc)\n"
            "for i in [1]:\n    assert f(t) == t"
        ),
        "def f(x): return x",
    ),
    "bytes": (
        "for b in [b'ab', b'']:\n    assert f(b) == b[::-1]",
        "def f(x): return x[::-1]",
    ),
    "set result types": (
        "for i in [1]:\n    assert type(f([1, 1])) is set and f([1, 1]) == {1}",
        "def f(x): return set(x)",
        "def f(x): return frozenset(x)",
    ),
    "bool vs int": (
        "for i in [1]:\n    assert f(1) is True",
        "def f(x): return x == 1",
        "def f(x): return 1",
    ),
    "none": (
        "for i in [1]:\n    assert f(1) is None",
        "def f(x): pass",
        "def f(x): return 0",
    ),
    "range result": (
        "for i in [3]:\n    assert f(i) == range(3)",
        "def f(x): return range(x)",
        "def f(x): return [0, 1, 2]",
    ),
    "dict order": (
        "for i in [3]:\n    assert list(f()) == ['b', 'a']",
        "def f(): return {'b': 1, 'a': 2}",
        "def f(): return {'a': 2, 'b': 1}",
    ),
    "lambda key callback": (
        (
            "assert f([1, 2, 3], lambda a: -a) == [3, 2, 1]\nassert f(['bb', 'a'], len) == ['a', 'bb']\n"
            "assert f(['B', 'a'], str.lower) == ['a', 'B']"
        ),
        "def f(x, k): return sorted(x, key=k)",
    ),
    "operator callback": (
        "import operator\nassert f([1, 2, 3], operator.add) == 6\nassert f([2, 3], operator.mul) == 6",
        "import functools\ndef f(x, g): return functools.reduce(g, x)",
    ),
    "exception class as arg": (
        "for i in [1]:\n    assert f(lambda: 1 / 0, ZeroDivisionError) == 'caught'",
        "def f(g, E):\n    try: g()\n    except E: return 'caught'",
    ),
    "type as arg": (
        "assert f(3, int) and not f('a', int)\nassert f([], (list, tuple))",
        "def f(x, t): return isinstance(x, t)",
    ),
    "generator arg": (
        "assert f(x for x in range(3)) == 3\nassert f(iter([1])) == 1",
        "def f(x): return sum(x)",
    ),
    "file-like arg": (
        "import io\nassert f(io.StringIO('a\\nb')) == 2\nassert f(io.StringIO('')) == 0",
        "def f(x): return len(x.readlines())",
    ),
    "mutating while iterating": (
        "g = f([1, 2, 3])\nx = next(g)\nassert x == 1\nassert list(g) == [2, 3]",
        "def f(x):\n    for i in x: yield i",
    ),
    "global counter": (
        "f()\nf()\nassert f() == 3",
        "n = 0\ndef f():\n    global n\n    n += 1\n    return n",
        "def f(): return 1",
    ),
    "lru cache info": (
        "for i in range(5):\n    f(1)\nassert f.cache_info().hits == 4",
        "import functools\n@functools.lru_cache\ndef f(x): return x",
    ),
    "weak else": (
        "for i in range(3):\n    if f(i) != i: break\nelse:\n    i = 99\nassert i == 99",
        "def f(x): return x",
        "def f(x): return 0",
    ),
    "failing if": (
        "if f(1) != 1:\n    raise AssertionError('no')\nassert f(2) == 2",
        "def f(x): return x",
        "def f(x): return 2",
    ),
    "raise other": (
        "for i in [1]:\n    if f(i) != 1:\n        raise ValueError('no')\nassert f(2) == 2",
        "def f(x): return x",
        "def f(x): return 2",
    ),
    "sys.exit": (
        "import sys\nif f(1) != 1:\n    sys.exit(1)\nassert f(2) == f(2)",
        "def f(x): return x",
        "def f(x): return 2",
    ),
    "bank account": (
        (
            "a = Account('x', 10)\na.deposit(5)\nassert a.balance == 15\ntry:\n    a.withdraw(100)\n"
            "    assert False, 'no error'\nexcept InsufficientFunds as e:\n"
            "    assert 'Insufficient' in str(e)\nassert str(a) == 'x: 15'"
        ),
        (
            "class InsufficientFunds(Exception): pass\nclass Account:\n"
            "    def __init__(s, n, b): s.n, s.balance = n, b\n    def deposit(s, x): s.balance += x\n"
            "    def withdraw(s, x):\n        if x > s.balance: raise InsufficientFunds('Insufficient')\n"
            "        s.balance -= x\n    def __str__(s): return f'{s.n}: {s.balance}'"
        ),
    ),
    "lru cache class": (
        (
            "c = LRUCache(2)\nc.put(1, 1)\nc.put(2, 2)\nassert c.get(1) == 1\nc.put(3, 3)\n"
            "assert c.get(2) == -1\nassert c.get(3) == 3"
        ),
        (
            "from collections import OrderedDict\nclass LRUCache:\n"
            "    def __init__(s, n): s.n, s.d = n, OrderedDict()\n    def get(s, k):\n"
            "        if k not in s.d: return -1\n        s.d.move_to_end(k)\n        return s.d[k]\n"
            "    def put(s, k, v):\n        s.d[k] = v\n        s.d.move_to_end(k)\n"
            "        if len(s.d) > s.n: s.d.popitem(last=False)"
        ),
        (
            "class LRUCache(dict):\n    def __init__(s, n): pass\n"
            "    def get(s, k): return dict.get(s, k, -1)\n    def put(s, k, v): s[k] = v"
        ),
    ),
    "dict subclass object": (
        "d = C()\nd['a'] = 1\nassert d['a'] == 1 and d.total() == 1\nassert isinstance(d, dict)",
        "class C(dict):\n    def total(s): return sum(s.values())",
    ),
    "list subclass object": (
        "d = C([1, 2])\nd.append(3)\nassert d.total() == 6 and len(d) == 3\nassert d == [1, 2, 3]",
        "class C(list):\n    def total(s): return sum(s)",
    ),
    "int subclass": (
        "d = C(3)\nassert d.double() == 6 and d == 3 and d + 1 == 4",
        "class C(int):\n    def double(s): return s * 2",
    ),
    "mul num class": (
        "a = Frac(1, 2) + 1\nassert a == Frac(3, 2)",
        (
            "class Frac:\n    def __init__(s, a, b): s.a, s.b = a, b\n"
            "    def __add__(s, o): return Frac(s.a + o * s.b, s.b)\n"
            "    def __eq__(s, o): return s.a * o.b == o.a * s.b"
        ),
    ),
    "typing generics": (
        "s = Stack[int]()\ns.push(1)\nassert s.pop() == 1",
        (
            "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Stack(Generic[T]):\n"
            "    def __init__(s): s.i = []\n    def push(s, x): s.i.append(x)\n    def pop(s): return s.i.pop()"
        ),
    ),
    "time": (
        "import time\nt = time.time()\nassert f(5) == 5\nassert time.time() - t < 5",
        "def f(x): return x",
    ),
    "abstract class": (
        "try:\n    Shape()\n    assert False\nexcept TypeError:\n    pass\nassert Sq(2).area() == 4",
        (
            "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n"
            "    def area(s): ...\nclass Sq(Shape):\n    def __init__(s, a): s.a = a\n"
            "    def area(s): return s.a ** 2"
        ),
    ),
    "slots": (
        "p = P(1)\ntry:\n    p.z = 3\n    assert False\nexcept AttributeError:\n    pass\nassert p.x == 1",
        "class P:\n    __slots__ = ('x',)\n    def __init__(s, x): s.x = x",
    ),
    "frozen dataclass": (
        (
            "import dataclasses\np = P(1)\ntry:\n    p.x = 3\n    assert False\n"
            "except dataclasses.FrozenInstanceError:\n    pass\nassert dataclasses.asdict(p) == {'x': 1}"
        ),
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int",
    ),
    "module constant": (
        "assert LIMIT == 5\nassert f(LIMIT) == 5",
        "LIMIT = 5\ndef f(x): return x",
    ),
    "linked list methods": (
        (
            "l = LinkedList()\nfor i in range(3): l.append(i)\n"
            "assert l.head.value == 0 and l.head.next.value == 1\nn, out = l.head, []\nwhile n is not None:\n"
            "    out.append(n.value)\n    n = n.next\nassert out == [0, 1, 2]"
        ),
        (
            "class N:\n    def __init__(s, v): s.value, s.next = v, None\nclass LinkedList:\n    head = None\n"
            "    def append(s, v):\n        if not s.head: s.head = N(v)\n        else:\n"
            "            n = s.head\n            while n.next: n = n.next\n            n.next = N(v)"
        ),
    ),
    "dunder via builtins": (
        (
            "c = C()\nassert abs(c) == 1 and int(c) == 2 and float(c) == 3.0 and round(c) == 4\n"
            "assert bool(c) and divmod(c, 2) == 5 and c ** 2 == 6 and c // 2 == 7"
        ),
        (
            "class C:\n    def __abs__(s): return 1\n    def __int__(s): return 2\n"
            "    def __float__(s): return 3.0\n    def __round__(s, n=None): return 4\n"
            "    def __divmod__(s, o): return 5\n    def __pow__(s, o): return 6\n"
            "    def __floordiv__(s, o): return 7"
        ),
    ),
    "callback log": (
        "calls = []\ndef cb(x): calls.append(x)\nf(cb, [1, 2])\nassert calls == [1, 2]",
        "def f(g, xs):\n    for x in xs: g(x)",
        "def f(g, xs): pass",
    ),
    "callback log stays empty": (
        "calls = []\ndef cb(x): calls.append(x)\nassert f(cb, []) == 0\nf(cb, [])\nassert calls == []",
        "def f(g, xs): return len(xs)",
        "def f(g, xs):\n    g(1)\n    return 0",
    ),
    "bound method as callback": (
        "xs = []\nf(xs.append)\nassert xs == [1]",
        "def f(g): g(1)",
        "def f(g): pass",
    ),
    "iterator protocol by hand": (
        (
            "it = iter(C(2))\nassert next(it) == 0\nassert next(it) == 1\ntry:\n    next(it)\n"
            "    assert False\nexcept StopIteration:\n    pass"
        ),
        "class C:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return iter(range(s.n))",
    ),
    "zip of results": (
        "for got, want in zip(map(f, [1, 2]), [1, 2]):\n    assert got == want",
        "def f(x): return x",
        "def f(x): return 1",
    ),
    "tree": (
        "t = Tree(1, Tree(0), Tree(2))\nassert f(t) == [0, 1, 2]\nassert f(None) == []",
        (
            "class Tree:\n    def __init__(s, v, l=None, r=None): s.v, s.l, s.r = v, l, r\n"
            "def f(t): return f(t.l) + [t.v] + f(t.r) if t else []"
        ),
        (
            "class Tree:\n    def __init__(s, v, l=None, r=None): s.v, s.l, s.r = v, l, r\n"
            "def f(t): return [t.v] if t else []"
        ),
    ),
    "class method chain": (
        "assert B().add(1).add(2).build() == [1, 2]",
        (
            "class B:\n    def __init__(s): s.x = []\n    def add(s, x):\n        s.x.append(x)\n"
            "        return s\n    def build(s): return s.x"
        ),
    ),
    "approx": (
        "import pytest\nfor x in [3]:\n    assert f(x) == pytest.approx([1 / 3, 2 / 3])",
        "def f(x): return [1 / x, 2 / x]",
        "def f(x): return [1 / x]",
    ),
    "unittest class": (
        (
            "import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.x = [2, 1]\n"
            "    def test_a(self):\n        self.assertEqual(f(self.x), [1, 2])\n    def test_b(self):\n"
            "        self.assertSetEqual({*f(self.x)}, {1, 2})\nT('test_a').debug()\nT('test_b').debug()"
        ),
        "def f(x): return sorted(x)",
        "def f(x): return x",
    ),
    "mutual recursion with tests": (
        ("def even(n): return True if n == 0 else f(even, n - 1)\nassert even(10) is True\nassert even(9) is False"),
        "def f(even, n): return not even(n)",
        "def f(even, n): return even(n)",
    ),
    "lazy": (
        (
            "calls = []\ndef cb():\n    calls.append(1)\n    return 5\nlazy = f(cb)\nassert calls == []\n"
            "assert lazy() == 5"
        ),
        "def f(g): return lambda: g()",
        "def f(g):\n    v = g()\n    return lambda: v",
    ),
    "lazy by statement": (
        ("calls = []\ndef cb():\n    calls.append(1)\n    return 5\nf(cb)\nassert calls == []\nassert f(cb)() == 5"),
        "def f(g): return lambda: g()",
        "def f(g):\n    v = g()\n    return lambda: v",
    ),
    "memo counts": (
        (
            "calls = []\ndef g(x):\n    calls.append(x)\n    return x * 2\nh = f(g)\nassert h(2) == 4\n"
            "assert h(2) == 4\nassert len(calls) == 1"
        ),
        ("def f(h):\n    c = {}\n    def w(x):\n        if x not in c: c[x] = h(x)\n        return c[x]\n    return w"),
        "def f(h): return h",
    ),
    "memo by decorator": (
        (
            "calls = []\n@f\ndef g(x):\n    calls.append(x)\n    return x * 2\nassert g(2) == 4\n"
            "assert g(2) == 4\nassert len(calls) == 1"
        ),
        ("def f(h):\n    c = {}\n    def w(x):\n        if x not in c: c[x] = h(x)\n        return c[x]\n    return w"),
        "def f(h): return h",
    ),
    "helper logs": (
        "calls = []\ndef g(x):\n    calls.append(x)\n    return f(x)\nassert g(2) == 2\nassert calls == [2]",
        "def f(x): return x",
        "def f(x): return 0",
    ),
    "not called": (
        ("calls = []\n@f\ndef g(x):\n    calls.append(x)\n    return x\nassert len(calls) == 0\nassert g(1) == 1"),
        "def f(h): return h",
        "def f(h):\n    h(0)\n    return h",
    ),
    "lazy, list made later": (
        (
            "def cb():\n    calls.append(1)\n    return 5\ncalls = []\nlazy = f(cb)\nassert calls == []\n"
            "assert lazy() == 5"
        ),
        "def f(g): return lambda: g()",
        "def f(g):\n    v = g()\n    return lambda: v",
    ),
}
