"""Whether the history of one register is linearizable: Wing and Gong's search, with memory of what was tried.

An operation is (sent, answered, kind, argument, result); `answered` is None if no answer came or it said that it failed:
then it may take effect at any time after it was sent, or never. Kinds: write v; swap (old, new) -> bool; insert v ->
bool; add -> the new value; read -> value. A register that was never written holds None.
"""
FOREVER = float('inf')
STEPS = 300000  # positions tried before the search gives up


def apply(kind, argument, result, value, answered):
    """The register afterwards, or 'no' if the operation cannot have had this result on this value."""
    if kind == 'write':
        return argument
    if kind == 'read':
        return value if result == value else 'no'
    if kind == 'add':
        new = (value or 0) + 1
        return new if not answered or result == new else 'no'
    if kind == 'swap':
        done, new = value == argument[0], argument[1]
    else:  # insert
        done, new = value is None, argument
    if answered and result != done:
        return 'no'
    return new if done else value


def linearizable(history):
    """True, False, or None if the search took too long."""
    history = sorted(op for op in history if op[1] is not None or op[2] != 'read')
    sent = [op[0] for op in history]
    answered = [FOREVER if op[1] is None else op[1] for op in history]
    must = sum(1 << i for i, end in enumerate(answered) if end != FOREVER)
    seen = set()
    stack = [(0, None, 0)]  # done (a bit for each operation), the value, all before this one are done
    steps = 0
    while stack:
        done, value, low = stack.pop()
        if done & must == must:
            return True
        steps += 1
        if steps > STEPS:
            return None
        while done >> low & 1:
            low += 1
        # Next may be whatever was sent before the first answer among those not yet done.
        first = FOREVER
        at, choices = low, []
        while at < len(history) and sent[at] < first:
            if not done >> at & 1:
                first = min(first, answered[at])
                choices.append(at)
            at += 1
        for at in reversed(choices):  # the oldest is tried first
            if sent[at] > first:
                continue
            _, end, kind, argument, result = history[at]
            new = apply(kind, argument, result, value, end is not None)
            if new == 'no':
                continue
            state = (done | 1 << at, new)
            if state not in seen:
                seen.add(state)
                stack.append((state[0], new, low))
    return False


def self_test():
    """The checker must say no to what is wrong, or its yes means nothing."""
    good = [(0, 1, 'write', 1, None), (2, 5, 'swap', (1, 2), True), (3, 4, 'read', None, 1), (6, 7, 'add', None, 3),
            (8, None, 'write', 9, None), (9, 10, 'read', None, 9), (11, 12, 'insert', 5, False)]
    assert linearizable(good) is True
    assert linearizable(good + [(13, 14, 'read', None, 9)]) is True
    bad = [
        good + [(13, 14, 'read', None, 3)],                                                      # seen, then gone
        [(0, 1, 'write', 1, None), (2, 3, 'read', None, None)],                                  # an acknowledged write lost
        [(0, 1, 'write', 1, None), (2, 5, 'swap', (1, 2), True), (3, 4, 'swap', (1, 3), True)],  # both won
        [(0, 1, 'add', None, 1), (2, 5, 'add', None, 2), (3, 4, 'add', None, 2)],                # an increment lost
        [(0, 9, 'write', 1, None), (1, 2, 'read', None, 1), (3, 4, 'read', None, None)],         # back in time
        [(0, 1, 'insert', 4, False)],
    ]
    for history in bad:
        assert linearizable(history) is False, history
