"""Sends a message to PORT, signed with SECRET at a time, as a bank does; prints the status of the answer."""

import base64
import hashlib
import hmac
import sys
import time
import urllib.error
import urllib.request

port, secret, age, body = sys.argv[1:5]
moment = int(time.time()) - int(age)
signed = f"msg_1.{moment}.{body}".encode()
key = base64.b64decode(secret.removeprefix("whsec_"))
signature = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
headers = {"webhook-id": "msg_1", "webhook-timestamp": str(moment), "webhook-signature": signature}
request = urllib.request.Request(f"http://127.0.0.1:{port}/", body.encode(), headers)
try:
    print(urllib.request.urlopen(request, timeout=30).status)
except urllib.error.HTTPError as refused:
    print(refused.code)
