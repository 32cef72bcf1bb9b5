# SPDX-License-Identifier: Apache-2.0
import builtin


def prepare(play):
    builtin.install(play)
