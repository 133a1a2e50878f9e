# SPDX-License-Identifier: Apache-2.0
"""connect.py serve FILE: a loopback server, its port in FILE. connect.py connect PORT: reach it."""
import os
import socket
import sys

if sys.argv[1] == "serve":
    server = socket.create_server(("127.0.0.1", 0))
    with open(sys.argv[2] + ".new", "w", encoding="ascii") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(sys.argv[2] + ".new", sys.argv[2])
    while True:
        connection, _ = server.accept()
        connection.sendall(b"reached")
        connection.close()
else:
    with socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=60) as connection:
        assert connection.recv(16) == b"reached"
