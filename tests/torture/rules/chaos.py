"""What goes wrong, at moments that the seed chooses. Each trouble ends by itself after a while, but for the dead server, which is
started again at once."""
import collections
import heapq
import itertools
import time

from pipeline import Loop

DAY = 86400
DEPTH = 4
TROUBLES = ('kill', 'kill', 'kill', 'hook-kill', 'hook-refuse', 'hook-forget', 'hook-hang', 'nats-kill', 'cut', 'cut', 'stall', 'away',
            'disk', 'clock', 'clock')


class Chaos:
    def __init__(self, stage, world, lanes, troubles, pace):
        self.stage, self.world, self.lanes, self.pace = stage, world, lanes, pace
        self.troubles = troubles
        self.chance = world.chance
        self.done = collections.Counter()
        self.strikes = 0
        self.later, self.order = [], itertools.count()  # what ends, and when
        self.deck = []
        self.loop = None
        self.trouble = None   # the disk is full
        self.surprises = []   # failures that nothing explains

    # ---- Time ----

    def at(self, seconds, act):
        heapq.heappush(self.later, (time.monotonic() + seconds, next(self.order), act))

    def draw(self):
        """Each trouble comes once before one comes twice."""
        if not self.deck:
            self.deck = list(self.troubles)
            self.chance.shuffle(self.deck)
        self.at(self.chance.expovariate(1 / self.pace), self.draw)
        self.strikes += 1
        self.strike(self.deck.pop())

    def run(self, enough, patience):
        self.connect()
        self.at(self.pace, self.draw)
        end = time.monotonic() + patience
        while not enough() and time.monotonic() < end:
            while self.later and self.later[0][0] <= time.monotonic():
                heapq.heappop(self.later)[2]()
            self.loop.run(self.later[0][0], enough)
            self.look()
            if not self.loop.connections and not enough():
                self.restart()
        return time.monotonic() < end

    def finish(self):
        """No more troubles; every lane comes to its end."""
        while self.later:
            act = heapq.heappop(self.later)[2]
            if act != self.draw:  # pylint: disable=comparison-with-callable
                act()
        self.world.stopping = True
        for _ in range(3):  # a restart, for those who are unsure
            self.loop.run(time.monotonic() + 60, lambda: all(lane.done or lane.unsure for lane in self.lanes))
            if all(lane.done for lane in self.lanes):
                break
            self.restart()
        else:
            raise AssertionError('some lanes do not come to their end')

    # ---- The server ----

    def connect(self):
        self.loop = Loop(self.stage.server.endpoint, self.lanes, DEPTH)

    def restart(self, layered=False):
        process = self.stage.server.process
        if process.poll() is not None:
            raise AssertionError(f'the server ended by itself with status {process.returncode}\n{self.stage.server.error_text()}')
        process.kill()
        self.loop.close()
        process.wait()
        self.stage.note()
        self.done['kills of the server'] += 1
        self.stage.start(layered)
        self.connect()

    def look(self):
        if self.loop.failures and not self.trouble and not self.stage.layered:
            self.surprises.append(f'{dict(self.loop.failures)}: {self.loop.last_failure!r}')
            self.loop.failures.clear()

    # ---- Troubles ----

    def strike(self, what):
        stage, chance = self.stage, self.chance
        seconds = chance.uniform(0.2, 1.5)
        if self.trouble and what in ('kill', 'disk', 'clock'):
            self.at(seconds, lambda: self.strike(what))
            return
        self.done[what] += 1
        if what == 'kill':
            self.restart()
            while chance.random() < 0.2:
                time.sleep(chance.uniform(0, 0.1))
                self.restart()
        elif what == 'hook-kill':
            stage.hook.kill()
            self.at(seconds, stage.hook_start)
        elif what == 'nats-kill':
            stage.nats_kill()
            self.at(seconds, stage.nats_start)
        elif what.startswith('hook-'):
            stage.hook.tell(what[5:], seconds)
        elif what in ('cut', 'stall', 'away'):
            stage.proxy.tell(what, *([seconds] if what != 'cut' else []))
        elif what == 'clock':
            # Consumers may be behind for a week before changes are forgotten: the two ends are less than that apart.
            stage.move_clock(int(chance.choice((-2, -1, -0.1, 0, 0.04, 1.5, 2.5, 3)) * DAY))
        elif what == 'disk':
            self.trouble = 'disk'
            self.restart(layered=True)
            self.at(chance.uniform(0.1, 0.5), self.fill)

    def fill(self):
        self.stage.disk.fill(self.chance.choice((0, 0, self.chance.randrange(60000))))
        self.at(self.chance.uniform(0.2, 1), self.lift)

    def lift(self):
        """There is room again; some go on at once, and all after a restart."""
        self.stage.disk.lift()
        self.done['writes that failed on a full disk'] += sum(self.loop.failures.values())
        self.at(self.chance.uniform(0.1, 0.5), self.relieve)

    def relieve(self):
        self.restart()
        self.trouble = None
