// The NATS packages. They are optional peers and are loaded when a run begins: strategies and accounting work without them.

import { fail } from "../errors/errors.js";

/** Imports a package; if it is missing, throws InvalidArgument with instructions to install it. */
export async function importPackage<T extends object>(
  where: string,
  load: () => Promise<T>,
): Promise<T> {
  try {
    const module = await load();
    // The packages are CommonJS, and some bundlers provide their exports only as the default export.
    return (module as T & { default?: T }).default ?? module;
  } catch (error) {
    const names =
      "@nats-io/nats-core @nats-io/jetstream @nats-io/kv @nats-io/obj @nats-io/transport-node";
    return fail(
      "InvalidArgument",
      where,
      `a package of NATS cannot be imported: ${error}. npm install ${names}`,
    );
  }
}

/** The packages that clients and coordinators need. */
export async function loadClientPackages(where: string) {
  const [core, jetstream] = await Promise.all([
    importPackage(where, () => import("@nats-io/nats-core")),
    importPackage(where, () => import("@nats-io/jetstream")),
  ]);
  return { core, jetstream };
}

/** The package for key-value buckets. */
export function loadKeyValue(where: string) {
  return importPackage(where, () => import("@nats-io/kv"));
}

type NodeTransport = Pick<typeof import("@nats-io/transport-node"), "connect">;

/** The package that connects over TCP, which exists only for Node; bundlers of pages must not resolve it. */
export function loadNodeTransport(where: string): Promise<NodeTransport> {
  // Bundlers resolve a constant argument of import(); minifiers do not evaluate this expression.
  const name = ["@nats-io", "transport-node"].join("/");
  return importPackage(where, () => import(/* @vite-ignore */ /* webpackIgnore: true */ name));
}
