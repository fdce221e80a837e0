"""The network between the server and those whom it delivers to.

    proxy.py PORT TARGET [PORT TARGET…]

Commands on standard input: 'cut' ends all connections, at whatever byte they are; 'stall S' lets nothing through for
S seconds; 'away S' ends all and takes no new ones.
"""
import asyncio
import os
import sys
import time

writers = set()
state = {'stall': 0, 'away': 0}


def cut():
    for writer in list(writers):
        writer.transport.abort()


def command():
    text = os.read(0, 4096).decode()
    if not text:
        os._exit(0)
    for line in (one.split() for one in text.splitlines()):
        if line[0] != 'stall':
            cut()
        if line[0] != 'cut':
            state[line[0]] = time.monotonic() + float(line[1])


async def pipe(reader, writer):
    try:
        while data := await reader.read(1 << 16):
            while (rest := state['stall'] - time.monotonic()) > 0:
                await asyncio.sleep(rest)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.transport.abort()


async def serve(target, reader, writer):
    writers.add(writer)
    try:
        if time.monotonic() < state['away']:
            return
        there, back = await asyncio.open_connection('127.0.0.1', target)
        writers.add(back)
        await asyncio.gather(pipe(reader, back), pipe(there, writer))
        writers.discard(back)
    except OSError:
        pass
    finally:
        writers.discard(writer)
        writer.transport.abort()


async def main(ports):
    asyncio.get_running_loop().add_reader(sys.stdin, command)
    for port, target in zip(ports[::2], ports[1::2]):
        await asyncio.start_server(lambda r, w, target=target: serve(target, r, w), '127.0.0.1', port, backlog=100)
    print('ready', flush=True)
    await asyncio.Event().wait()


asyncio.run(main([int(port) for port in sys.argv[1:]]))
