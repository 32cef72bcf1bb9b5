# SPDX-License-Identifier: Apache-2.0
"""Three dead letters, put into the table: one can be replayed, one's bookmark is gone, one cannot."""
import sqlite3

from flows import definition, event, publish, rows, sequence, start
from harness import HANG_S

DAY_US = 86400 * 1000000
BASE_US = 981173106 * 1000000  # 2001-02-03T04:05:06Z


def insert(play, number, bookmark, can_replay):
    letter = {"tenant_id": "", "id": f"dl-{number}", "work_id": f"qdl-{number}", "kind": "resume",
              "instance_id": play.instance, "bookmark_id": bookmark, "hash": "",
              "correlation_id": "corr", "activity_instance_id": "", "name": "", "reason": "Expired",
              "created_us": BASE_US, "dead_us": BASE_US + (number - 1) * DAY_US, "attempts": 3,
              "attempted_us": BASE_US, "can_replay": can_replay, "replayed_us": 0,
              "replayed_id": "", "error": "boom", "payload": b"{}"}
    with sqlite3.connect(play.server.store.removeprefix("sqlite:"), timeout=HANG_S) as store:
        columns = [row[1] for row in store.execute("pragma table_info(pawl_dead_letters)")]
        used = [column for column in columns if column in letter]
        store.execute(f"insert into pawl_dead_letters ({', '.join(used)}) values "
                      f"({', '.join('?' * len(used))})", [letter[column] for column in used])


def before(play, case):
    if case["name"] != "list":
        return
    publish(play, definition("w", sequence("s", event("e", "Go"))))
    play.instance = start(play, "w", "--correlation-id", "corr")
    bookmark = rows(play, "select id from pawl_bookmarks where instance_id = ?", play.instance)[0][0]
    insert(play, 1, bookmark, 1)
    insert(play, 2, "gone", 1)
    insert(play, 3, "x", 0)
    play.known["<id1>"], play.known["<id2>"] = play.instance, bookmark


def adapt(play, case, expected, given, difference):
    """The recording looked before the queue's worker did. Ours may have been quicker: then the event has had its effect."""
    if case["name"] == "instance after replay" and given["status"] == "Finished":
        expected = {**expected, "status": "Finished", "subStatus": "Finished"}
    return expected, given
