// Time as a limit of work: other programs on the machine do not use it up.

/** Returns the seconds for which the threads of this process have computed. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
