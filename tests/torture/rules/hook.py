"""The webhook's receiver, a process of its own that can be killed.

    hook.py PORT LOG SECRET

What it takes is a line 'job n type id' in LOG, written before the answer. Commands on standard input, each for some
seconds: 'refuse S' answers 500, 'forget S' takes the events and answers 500 all the same, 'hang S' answers nothing.
"""
import asyncio
import hashlib
import hmac
import json
import os
import sys
import time


class Hook:
    def __init__(self, path, secret):
        self.secret = secret.encode()
        self.mode, self.until = 'take', 0
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        with open(path, 'rb') as file:  # whoever was killed while it wrote has not answered either
            begin = max(0, os.path.getsize(path) - (1 << 20))
            file.seek(begin)
            tail = file.read()
        if tail and not tail.endswith(b'\n'):
            os.ftruncate(self.file, begin + tail.rfind(b'\n') + 1)

    def command(self):
        text = os.read(0, 4096).decode()
        if not text:
            os._exit(0)
        mode, seconds = text.splitlines()[-1].split()
        self.mode, self.until = mode, time.monotonic() + float(seconds)

    def signed(self, headers, body):
        parts = dict(part.split('=', 1) for part in headers.get('x-dolmen-signature', '').split(',') if part)
        wanted = hmac.new(self.secret, parts.get('t', '').encode() + b'.' + body, hashlib.sha256).hexdigest()
        return parts.get('v1') == wanted

    def take(self, body):
        events = json.loads(body)
        lines = ''.join(f'{one["item"]["job"]} {one["item"]["n"]} {one["type"]} {one["id"]}\n'
                        for one in (events if isinstance(events, list) else [events]))
        os.write(self.file, lines.encode())

    async def answer(self, headers, body):
        mode = self.mode if time.monotonic() < self.until else 'take'
        if mode == 'hang':
            await asyncio.sleep(30)
        if not self.signed(headers, body):
            return b'401 Unauthorized'
        if mode != 'refuse':
            self.take(body)
        return b'200 OK' if mode == 'take' else b'500 Internal Server Error'

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1').split('\r\n')
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(':') for line in head[1:])}
                if headers.get('expect'):
                    writer.write(b'HTTP/1.1 100 Continue\r\n\r\n')
                body = await reader.readexactly(int(headers['content-length']))
                writer.write(b'HTTP/1.1 ' + await self.answer(headers, body) + b'\r\ncontent-length: 0\r\n\r\n')
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            writer.close()


async def main(port, path, secret):
    hook = Hook(path, secret)
    asyncio.get_running_loop().add_reader(sys.stdin, hook.command)
    server = await asyncio.start_server(hook.serve, '127.0.0.1', port, limit=1 << 24, backlog=100)
    print('ready', flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
