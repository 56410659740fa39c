"""Bad networks in front of the program: seeded proxies for UDP and TCP. The same seed does the same harm to the same
traffic."""
import random
import select
import socket
import threading


class Proxy(threading.Thread):
    """What both kinds share: a thread that ends with its with statement."""

    def __init__(self, target, seed):
        super().__init__(daemon=True)
        self.target = target
        self.dice = random.Random(seed)
        self.ended = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join(10)

    def happens(self, probability):
        return self.dice.random() < probability


class UdpProxy(Proxy):
    """Between one controller and a wire. Probabilities, each of a datagram towards the wire: `loss`, `burst` (it and the
    next BURST - 1 are lost), `duplicate`,
    `reorder` (held until the next has passed), `truncate`, `swap` (bytes of each float32 reversed), `replay` (one of
    those that passed before comes once more)."""

    BURST = 20

    def __init__(self, target, seed=1, loss=0, burst=0, duplicate=0, reorder=0, truncate=0, swap=0, replay=0):
        super().__init__(target, seed)
        self.burst, self.losing, self.lost = burst, 0, 0
        self.rates = {"loss": loss, "truncate": truncate, "swap": swap}
        self.duplicate, self.reorder, self.replay = duplicate, reorder, replay
        self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.bind(("127.0.0.1", 0))
        self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.far.connect(target)
        self.address = self.near.getsockname()
        self.client = None
        self.held = None
        self.passed = []

    def loses(self):
        if not self.losing and self.happens(self.burst):
            self.losing = self.BURST
        in_burst = self.losing > 0
        self.losing -= in_burst
        return in_burst or self.happens(self.rates["loss"])

    def forward(self, data):
        if self.loses():
            self.lost += 1
            return
        if self.happens(self.rates["truncate"]):
            data = data[:self.dice.randrange(len(data))]
        if self.happens(self.rates["swap"]):
            data = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
        if self.held is None and self.happens(self.reorder):
            self.held = data
            return
        out = [data] * (2 if self.happens(self.duplicate) else 1)
        if self.held is not None:
            out.append(self.held)
            self.held = None
        if self.passed and self.happens(self.replay):
            out.append(self.dice.choice(self.passed))
        self.passed = (self.passed + out)[-100:]
        for datagram in out:
            self.far.send(datagram)

    def run(self):
        while not self.ended.is_set():
            ready, _, _ = select.select([self.near, self.far], [], [], 0.05)
            if self.near in ready:
                data, self.client = self.near.recvfrom(65536)
                self.forward(data)
            if self.far in ready:
                data = self.far.recv(65536)
                if self.client:
                    self.near.sendto(data, self.client)
        self.near.close()
        self.far.close()


class TcpProxy(Proxy):
    """In front of a server, one connection at a time. `most`: bytes in one piece (1: one at a time); `cut_after`: bytes
    towards the server after which it tears both ends away; `silent_after`: bytes after which it says nothing more and
    closes nothing."""

    def __init__(self, target, seed=1, most=None, cut_after=None, silent_after=None):
        super().__init__(target, seed)
        self.most, self.cut_after, self.silent_after = most, cut_after, silent_after
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.towards = 0

    def pieces(self, data):
        while data:
            size = self.dice.randint(1, self.most) if self.most else len(data)
            yield data[:size]
            data = data[size:]

    def carry(self, source, target, towards):
        data = source.recv(65536)
        if not data:
            return False
        for piece in self.pieces(data):
            if towards:
                self.towards += len(piece)
                if self.silent_after and self.towards > self.silent_after:
                    return True
                if self.cut_after and self.towards > self.cut_after:
                    return False
            target.sendall(piece)
        return True

    def serve(self, near):
        with near, socket.create_connection(self.target, timeout=20) as far:
            for end in near, far:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.towards = 0
            while not self.ended.is_set():
                ready, _, _ = select.select([near, far], [], [], 0.05)
                try:
                    if near in ready and not self.carry(near, far, True):
                        return
                    if far in ready and not self.carry(far, near, False):
                        return
                except OSError:
                    return

    def run(self):
        self.listener.settimeout(0.05)
        while not self.ended.is_set():
            try:
                near, _ = self.listener.accept()
            except TimeoutError:
                continue
            self.serve(near)
        self.listener.close()
