import socket

with socket.create_connection(("8.8.8.8", 53), timeout=3):
    pass
