/** The tenants in which this process has written since the timekeeper last looked. */

/** The tenants in which this process has written since they were last taken. */
export class WrittenTenants {
  #tenants = new Set<string>();

  add(tenant: string): void {
    this.#tenants.add(tenant);
  }

  take(): readonly string[] {
    const taken = [...this.#tenants];
    this.#tenants.clear();
    return taken;
  }
}
