"""Takes signed messages (Standard Webhooks) at PORT-FILE's port: an order that is paid becomes an event of its instance."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import subprocess
import sys
import time

place, secret_file = map(pathlib.Path, sys.argv[1:3])
# A message that is too old may have been recorded by somebody.
OLDEST_S = 300


def is_genuine(headers, body):
    """Whether the headers sign the body with the secret, just now."""
    try:
        age = abs(time.time() - int(headers["webhook-timestamp"]))
    except (TypeError, ValueError):
        return False
    key = base64.b64decode(secret_file.read_text().strip().removeprefix("whsec_"))
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = (headers["webhook-signature"] or "").split()
    return age <= OLDEST_S and any(hmac.compare_digest(wanted, one) for one in given)


class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["content-length"]), 65536))
        status = 401
        if is_genuine(self.headers, body):
            message = json.loads(body)
            event = ["instance", "event", "recipe-payment", str(int(message["wid"])), f'paid={int(message["paid"])}']
            done = subprocess.run([os.environ["WED"], "--quiet", *event], check=False)
            status = 204 if done.returncode == 0 else 409
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Taker)
place.write_text(str(server.server_port))
server.serve_forever()
