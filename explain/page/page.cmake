# SPDX-License-Identifier: Apache-2.0
# The page of `--html`, bundled once and carried inside the program. Included by the root CMakeLists.txt; sets PAGE_CPP.
find_program(NPM npm)
find_program(NODE NAMES node nodejs)
set(PAGE_HTML ${PROJECT_BINARY_DIR}/generated/page.html)
set(PAGE_CPP ${PROJECT_BINARY_DIR}/generated/page_template.cpp)
file(GLOB PAGE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/explain/page/*.js ${PROJECT_SOURCE_DIR}/explain/page/*.css
     ${PROJECT_SOURCE_DIR}/explain/page/*.html ${PROJECT_SOURCE_DIR}/explain/page/*.mjs ${PROJECT_SOURCE_DIR}/explain/page/*.json)
if(NPM AND NODE)
  add_custom_command(OUTPUT ${PAGE_HTML}
    COMMAND ${CMAKE_COMMAND} -DNPM=${NPM} -DNODE=${NODE} -DSOURCE=${PROJECT_SOURCE_DIR}/explain/page -DWORK=${PROJECT_BINARY_DIR}/page
            -DOUT=${PAGE_HTML} -P ${PROJECT_SOURCE_DIR}/explain/page/build.cmake
    DEPENDS ${PAGE_SOURCES} explain/page/build.cmake COMMENT "bundling the page" VERBATIM)
else()
  message(WARNING "no page for --html: npm is missing (apt-get install npm)")
  file(WRITE ${PAGE_HTML} "")
  file(WRITE ${PAGE_HTML}.h "")
endif()
file(CONFIGURE OUTPUT ${PAGE_CPP} @ONLY CONTENT [[// Made by explain/page/page.cmake.
#include "explain/inspect/page.h"
#include "page.html.h"  // for a compiler cache, which sees no change behind .incbin

asm(".pushsection .rodata\n"
    "deuteron_page_begin: .incbin \"@PAGE_HTML@\"\n"
    "deuteron_page_end: .byte 0\n"
    ".popsection\n");
extern const char begin[] asm("deuteron_page_begin");
extern const char end[] asm("deuteron_page_end");

namespace deuteron {
std::string_view page_template() { return {begin, static_cast<size_t>(end - begin)}; }
}  // namespace deuteron
]])
set_source_files_properties(${PAGE_CPP} PROPERTIES OBJECT_DEPENDS ${PAGE_HTML})
