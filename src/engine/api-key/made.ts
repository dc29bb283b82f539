// Counts the API keys that this process has created, so that a server in it knows at once that there is a first one.
let count = 0

export function keyWasMade(): void {
  count += 1
}

export function madeKeyCount(): number {
  return count
}
