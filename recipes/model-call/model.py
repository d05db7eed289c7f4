"""Stands for a model's server: busy twice, then it answers. Each call costs 200 tokens; a long question costs more."""

import http.server
import json
import pathlib
import sys

calls = 0


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global calls
        question = self.rfile.read(int(self.headers["content-length"])).decode()
        calls += 1
        busy = calls <= 2 or len(question) > 100
        answer = {"tokens": 200 + 10 * len(question)}
        if not busy:
            answer["answer"] = question.upper()
        body = json.dumps(answer).encode()
        self.send_response(503 if busy else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Model)
pathlib.Path(sys.argv[1]).write_text(str(server.server_port))
server.serve_forever()
