/* For LD_PRELOAD: asks for huge pages for the large arrays of a program that does not ask itself,
 * as `unstarve roofline` does for its own. bench/roofline/compare_roofs.py gives them to STREAM, so
 * that what is compared is the memory, and not how often addresses are looked up. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned long kLargeBytes = 16UL << 20;

__attribute__((constructor)) static void ask_for_huge_pages(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return;
  char line[512];
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long start = 0;
    unsigned long end = 0;
    char access[5] = "";
    if (sscanf(line, "%lx-%lx %4s", &start, &end, access) != 3) continue;
    if (strncmp(access, "rw", 2) != 0 || end - start < kLargeBytes) continue;
    madvise((void*)start, end - start, MADV_HUGEPAGE);
  }
  fclose(maps);
}
