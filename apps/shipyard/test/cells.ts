/** Code that tests run. */

/** Runs until somebody ends it: ten minutes are for ever here, and nothing waits for them. */
export const endless = "import time; time.sleep(600)";
/** The same, which says when it has begun. */
export const tellingEndless: string = `print('on', flush=True)\n${endless}`;

/** Goes on once the workspace has the file `go`, which the test puts there: a worker hears of no event but this. */
export const waitsForGo = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.005)";
