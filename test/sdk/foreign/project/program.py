"""What an integrator might write on top of the code that openapi-python-client makes."""

import os
from base64 import b64encode

from gateway_client import AuthenticatedClient
from gateway_client.api.clients import list_clients
from gateway_client.models import TenantClient
from sign_on_client import AuthenticatedClient as SignOnClient
from sign_on_client.api.tokens import token
from sign_on_client.models import AuthorizationCodeGrant, IssuedTokens

CLIENT_ID = "app_GRiNdE2svJ6Uj1h5qWVsYI"
CLIENT_SECRET = "cs_live_3vQ8mTzK1xWbN6pRdY9sLcHf4GjUeA7oZiXtV2nMqBkR5wPy"


def clients() -> list[TenantClient]:
    gateway = AuthenticatedClient(
        base_url=os.environ["GATEWAY_URL"],
        token=os.environ["API_KEY"],
        prefix="",
        auth_header_name="x-api-key",
    )
    answer = list_clients.sync(os.environ["INSTANCE_INTEGRATION"], client=gateway)
    assert isinstance(answer, list), answer
    return answer


def tokens() -> IssuedTokens:
    grant = AuthorizationCodeGrant(
        grant_type="authorization_code",
        code="kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ",
        client_id=CLIENT_ID,
        redirect_uri="https://app.example.com/callback",
    )
    basic = b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    sign_on = SignOnClient(base_url=os.environ["SIGN_ON_URL"], token=basic, prefix="Basic")
    answer = token.sync(client=sign_on, body=grant)
    assert isinstance(answer, IssuedTokens), answer
    return answer


for client in clients():
    print(client.id, client.name)
issued = tokens()
print(issued.token_type, issued.expires_in, issued.access_token, issued.id_token)
