"""Receives one message at PORT-FILE's port, checks its signature by Standard Webhooks, and prints it."""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import sys

place, secret_file = map(pathlib.Path, sys.argv[1:3])


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        key = base64.b64decode(secret_file.read_text().strip().removeprefix("whsec_"))
        signed = f'{self.headers["webhook-id"]}.{self.headers["webhook-timestamp"]}.'.encode() + body
        wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        genuine = any(hmac.compare_digest(wanted, one) for one in self.headers["webhook-signature"].split())
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine:
            message = json.loads(body)
            print(f'{message["type"]}: instance {message["data"]["wid"]} of {message["data"]["flow"]}', flush=True)
            self.server.received = True

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
server.received = False
place.write_text(str(server.server_port))
while not server.received:
    server.handle_request()
