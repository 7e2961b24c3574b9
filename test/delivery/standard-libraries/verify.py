"""Reads cases from the standard input, a line of JSON each, and says of each whether the library takes it."""

import json
import sys
from base64 import b64decode

from standardwebhooks import Webhook, WebhookVerificationError

for line in sys.stdin:
    case = json.loads(line)
    try:
        Webhook(case["secret"]).verify(b64decode(case["body"]).decode(), case["headers"])
        print("taken")
    except WebhookVerificationError:
        print("refused")
