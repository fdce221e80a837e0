"""What one client knows about the things that only it writes.

A change is a dictionary: thing -> its new value (None: gone). A thing is (table, key), or a table or an index itself. A
change is asked, then it is acknowledged, refused (certainly not done) or in doubt (no answer, or an
answer that says it failed: it may be there after a restart). After the restart each thing must be what was
acknowledged last or what is in doubt since then, and a change that is one unit must be there as a whole or not at all.
With relaxed durability a power cut puts what was acknowledged last in doubt again.
"""
import time

from wire import Problem

WINDOW = 0.5  # seconds of acknowledged changes that may be lost: more than is promised, for answers are late here


class Memory:
    def __init__(self):
        self.known = {}
        self.recent = []      # acknowledged changes: when, change, whether it is a unit, what was there before
        self.doubts = []      # changes in their order, each with whether it is a unit
        self.asked = None
        self.acknowledged = 0

    def ask(self, change, unit=True):
        self.asked = (dict(change), unit)

    def accept(self):
        change, unit = self.asked
        self.asked = None
        self.acknowledged += 1
        now = time.monotonic()
        self.recent = [entry for entry in self.recent if entry[0] > now - 4 * WINDOW]
        self.recent.append((now, change, unit, {thing: self.known.get(thing) for thing in change}))
        self.known.update(change)
        for doubt, _ in self.doubts:
            for thing in change:
                doubt.pop(thing, None)

    def refuse(self):
        self.asked = None

    def doubt(self):
        if self.asked:
            self.doubts.append(self.asked)
            self.asked = None

    def unsure_since(self, moment):
        """With relaxed durability a power cut may take back what was acknowledged after this."""
        back = [entry for entry in self.recent if entry[0] > moment]
        for _, _, _, before in reversed(back):
            self.known.update(before)
        self.doubts = [(dict(change), unit) for _, change, unit, _ in back] + self.doubts

    def value(self, thing):
        return self.known.get(thing)

    def candidates(self, thing):
        return [self.known.get(thing)] + [change[thing] for change, _ in self.doubts if thing in change]

    def check(self, observed):
        """Compares with what is there after a restart, and takes it over."""
        self.doubt()
        things = set(self.known)
        for change, _ in self.doubts:
            things.update(change)
        for thing in things:
            if observed.get(thing) not in self.candidates(thing):
                raise Problem(f'{thing} is {observed.get(thing)}, not one of {self.candidates(thing)}')
        for at, (change, unit) in enumerate(self.doubts):
            if unit:
                self.check_unit(at, change, observed)
        for thing in things:
            self.known[thing] = observed.get(thing)
        self.doubts, self.recent = [], []

    def check_unit(self, at, change, observed):
        """Each thing of the change says 'there', 'not there' or nothing; they may not contradict each other."""
        there, absent = [], []
        for thing, value in change.items():
            now = observed.get(thing)
            others = [self.known.get(thing)]
            others += [other[thing] for i, (other, _) in enumerate(self.doubts) if i != at and thing in other]
            later = [other[thing] for other, _ in self.doubts[at + 1:] if thing in other]
            if now == value and now not in others:
                there.append(thing)
            elif now != value and now not in later:
                absent.append(thing)
        if there and absent:
            raise Problem(f'half a change: {there} are there, {absent} are not', 'half')
