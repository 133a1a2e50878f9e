# SPDX-License-Identifier: Apache-2.0
"""Sockets without a real server.

sockets.py serve FILE ADDRESS...: appends to FILE what is sent to these.
sockets.py send ADDRESS TEXT: does, and waits for the answer.
sockets.py knock ADDRESS...: a line for each, "open" or the errno of connecting.
sockets.py within FOLDER [ADDRESS]: server and client within one sandbox, and
descriptors that pass between them.
An address is a path, or "@" and an abstract name; knock takes "datagram:PATH".
"""
import array
import errno
import os
import selectors
import socket
import sys


def address(text):
    return "\0" + text[1:] if text.startswith("@") else text


def listen(text):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(address(text))
    server.listen()
    return server


def connect(text):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(60)
    client.connect(address(text))
    return client


def serve(file, *names):
    loop = selectors.DefaultSelector()
    for name in names:
        loop.register(listen(name), selectors.EVENT_READ, name)
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o644))
    while True:
        for key, _ in loop.select():
            connection, _ = key.fileobj.accept()
            with connection, open(file, "a", encoding="utf-8") as out:
                if text := connection.recv(256).decode():   # who only knocks sends nothing
                    out.write(f"{key.data} {text}\n")
                    out.flush()
                    connection.sendall(b"taken")


def send(name, text):
    with connect(name) as client:
        client.sendall(text.encode())
        assert client.recv(16) == b"taken"


def knock(*names):
    for name in names:
        kind = socket.SOCK_DGRAM if name.startswith("datagram:") else socket.SOCK_STREAM
        try:
            with socket.socket(socket.AF_UNIX, kind) as client:
                client.settimeout(60)
                client.connect(address(name.removeprefix("datagram:")))
            print(name, "open")
        except OSError as error:
            print(name, errno.errorcode[error.errno])


def in_child(work):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return lambda: os.waitpid(child, 0)[1] == 0 or sys.exit("the other process failed")


def give(connection, file):
    """Sends a descriptor of the file, which the other side need not be able to open."""
    with open(file, "rb") as opened:
        connection.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [opened.fileno()]))])


def take(connection):
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4))
    (_, _, data) = ancillary[0]
    with os.fdopen(array.array("i", data)[0], "rb") as passed:
        return passed.read()


def within(folder, *more):
    file = os.path.join(folder, "passed")
    with open(file, "wb") as out:
        out.write(b"through a socket")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    done = in_child(lambda: give(theirs, file))
    assert take(ours) == b"through a socket"
    done()
    for name in (os.path.join(folder, "socket"), *more):
        with listen(name) as server:
            done = in_child(lambda: give(connect(name), file))
            connection, _ = server.accept()
            assert take(connection) == b"through a socket"
            done()


if __name__ == "__main__":
    try:
        {"serve": serve, "send": send, "knock": knock, "within": within}[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        sys.exit(f"sockets.py: {error}")
