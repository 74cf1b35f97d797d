from enum import Enum, auto

from fastapi import Request

from app.domain.access import ANONYMOUS, Principal, Scope


class Reach(Enum):
    PROJECT = auto()
    OWN = auto()
    SERVER = auto()


class Allowed:
    def __init__(self, scope: Scope, reach: Reach = Reach.PROJECT) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> Principal:
        return ANONYMOUS

    def insist(self, who: Principal) -> None:
        del who
