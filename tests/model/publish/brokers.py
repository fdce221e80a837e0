"""Brokers for the tests: NATS with JetStream as a process, spoken to by its text protocol; Kafka as the mock cluster
of librdkafka, in this process."""
import base64
import ctypes
import json
import os
import shutil
import socket
import subprocess
import time


class Nats:
    binary = shutil.which('nats-server') or '/usr/sbin/nats-server'

    def __init__(self, directory, port):
        self.port = port
        self.process = subprocess.Popen(
            [self.binary, '-a', '127.0.0.1', '-p', str(port), '-js', '-sd', os.path.join(directory, 'nats')],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', port)).close()
                break
            except OSError:
                time.sleep(0.02)

    def ask(self, subject, document=None):
        body = json.dumps(document).encode() if document else b''
        with socket.create_connection(('127.0.0.1', self.port), timeout=10) as wire:
            file = wire.makefile('rb')
            file.readline()
            wire.sendall(b'CONNECT {"verbose":false}\r\nSUB inbox 1\r\n' +
                         f'PUB {subject} inbox {len(body)}\r\n'.encode() + body + b'\r\nPING\r\n')
            while True:
                line = file.readline().split()
                if line and line[0] == b'MSG':
                    return json.loads(file.read(int(line[-1])))
                if line and line[0] == b'PING':
                    wire.sendall(b'PONG\r\n')

    def messages(self, stream):
        count = self.ask(f'$JS.API.STREAM.INFO.{stream}')['state']['messages']
        return [json.loads(base64.b64decode(
            self.ask(f'$JS.API.STREAM.MSG.GET.{stream}', {'seq': number})['message']['data']))
            for number in range(1, count + 1)]

    def close(self):
        self.process.kill()
        self.process.wait()


class Kafka:
    """The mock cluster, and a consumer of all that is in a topic."""

    def __init__(self):
        self.lib = lib = ctypes.CDLL('librdkafka.so.1')
        for name in ('rd_kafka_conf_new', 'rd_kafka_new', 'rd_kafka_mock_cluster_new', 'rd_kafka_topic_partition_list_new',
                     'rd_kafka_topic_partition_list_add', 'rd_kafka_consumer_poll'):
            getattr(lib, name).restype = ctypes.c_void_p
        lib.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        self.owner = self.client(0, {})
        self.cluster = ctypes.c_void_p(lib.rd_kafka_mock_cluster_new(self.owner, 1))
        self.brokers = lib.rd_kafka_mock_cluster_bootstraps(self.cluster).decode()

    def client(self, kind, settings):
        conf = ctypes.c_void_p(self.lib.rd_kafka_conf_new())
        text = ctypes.create_string_buffer(200)
        for name, value in settings.items():
            assert self.lib.rd_kafka_conf_set(conf, name.encode(), value.encode(), text, 200) == 0, text.value
        return ctypes.c_void_p(self.lib.rd_kafka_new(kind, conf, text, 200))

    def topic(self, name, partitions):
        assert self.lib.rd_kafka_mock_topic_create(self.cluster, name.encode(), partitions, 1) == 0

    def messages(self, topic, partitions, count, seconds=20):
        """(partition, key, value) of all messages, once there are so many."""

        class Message(ctypes.Structure):
            _fields_ = [('err', ctypes.c_int), ('rkt', ctypes.c_void_p), ('partition', ctypes.c_int32),
                        ('payload', ctypes.c_void_p), ('len', ctypes.c_size_t), ('key', ctypes.c_void_p),
                        ('key_len', ctypes.c_size_t)]

        lib = self.lib
        consumer = self.client(1, {'bootstrap.servers': self.brokers, 'group.id': 'test', 'auto.offset.reset': 'earliest'})
        wanted = ctypes.c_void_p(lib.rd_kafka_topic_partition_list_new(partitions))
        for number in range(partitions):
            lib.rd_kafka_topic_partition_list_add(wanted, topic.encode(), number)
        lib.rd_kafka_assign(consumer, wanted)
        found, until = [], time.monotonic() + seconds
        while len(found) < count and time.monotonic() < until:
            pointer = lib.rd_kafka_consumer_poll(consumer, 200)
            if not pointer:
                continue
            message = ctypes.cast(pointer, ctypes.POINTER(Message)).contents
            if message.err == 0:
                found.append((message.partition, ctypes.string_at(message.key, message.key_len),
                              ctypes.string_at(message.payload, message.len)))
            lib.rd_kafka_message_destroy(ctypes.c_void_p(pointer))
        return found
