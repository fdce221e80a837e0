# How everything is compiled. DOLMEN_WERROR makes warnings errors (all presets do);
# DOLMEN_SANITIZE is what -fsanitize gets.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(DOLMEN_WERROR "Warnings are errors" OFF)
set(DOLMEN_SANITIZE "" CACHE STRING "What -fsanitize gets, such as address,undefined")

add_compile_definitions(_GNU_SOURCE DOLMEN_VERSION="${PROJECT_VERSION}")
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra>
                    $<$<COMPILE_LANGUAGE:C>:-Wconversion> $<$<COMPILE_LANGUAGE:C>:-Wshadow>
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
                    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> -fno-omit-frame-pointer)
if(DOLMEN_WERROR)
  add_compile_options(-Werror)
endif()
if(DOLMEN_SANITIZE)
  add_compile_options(-fsanitize=${DOLMEN_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DOLMEN_SANITIZE})
endif()
