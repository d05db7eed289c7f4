#!/bin/sh
# The certificates of HTTPS tests: an authority of their own, and a server's that it signed.
# They guard nothing; the key is in the repository for everybody to read. Valid for a hundred years.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/CN=Wedflow trials" \
  -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" \
  -keyout authority.key -out authority.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=trials" -keyout server.key -out server.csr
printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n' > server.ext
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 36500 \
  -extfile server.ext -out server.pem
rm -f authority.key authority.srl server.csr server.ext
