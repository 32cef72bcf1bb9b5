/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of SQLite, the one setting so far. */
#include "host/process.h"

#include "drivers/sqlite.h"

void pawl__host_tune_process(void)
{
    pawl__sqlite_count_no_memory();
}
