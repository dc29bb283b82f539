// Counts the API keys that this process has created, so that a server in it notices the first one at once.
let count = 0

export function keyWasMade(): void {
  count += 1
}

export function madeKeyCount(): number {
  return count
}
