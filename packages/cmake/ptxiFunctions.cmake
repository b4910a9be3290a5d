# Functions of find_package(ptxi):
#
# ptxi_add_ptx(TARGET SOURCE... [ARCH sm_80] [OPTIONS OPTION...])
#   Compiles CUDA C++ (.cu) to PTX with nvcc, which needs no GPU, and checks that ptxi can run it. PTX (.ptx) is only
#   checked. The files are built with `all`. The property PTX_FILES of TARGET has their paths, as has the variable
#   TARGET_PTX_FILES of the caller. nvcc is CMAKE_CUDA_COMPILER, or NVCC of the environment, or in PATH or in
#   /usr/local/cuda.
#
# ptxi_discover_tests(PROGRAM FRAMEWORK GTest|Catch2|doctest [EXEC] [CHECK TOOLS] [PREFIX TEXT] [ARGS ARGUMENT...]
#                     [PROPERTIES NAME VALUE...])
#   Adds each test case of a program to CTest, after the program has been built. A program that uses ptxi.h runs as it
#   is. With EXEC, or with CHECK, a program that was made for a GPU runs by `ptxi exec`; CHECK finds races and other
#   errors, as its option --check does (TOOLS: memory, race, init, sync, leaks, api, several with commas, or all).

set(_ptxi_functions_dir "${CMAKE_CURRENT_LIST_DIR}")

function(_ptxi_find_nvcc result)
    if(CMAKE_CUDA_COMPILER AND CMAKE_CUDA_COMPILER MATCHES "nvcc")
        set(${result} "${CMAKE_CUDA_COMPILER}" PARENT_SCOPE)
        return()
    endif()
    find_program(ptxi_NVCC NAMES "$ENV{NVCC}" nvcc PATHS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
    mark_as_advanced(ptxi_NVCC)
    if(NOT ptxi_NVCC)
        message(FATAL_ERROR "ptxi_add_ptx: nvcc was not found; set NVCC or CUDA_HOME in the environment")
    endif()
    set(${result} "${ptxi_NVCC}" PARENT_SCOPE)
endfunction()

function(ptxi_add_ptx target)
    cmake_parse_arguments(arg "" "ARCH" "OPTIONS" ${ARGN})
    if(NOT arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ptxi_add_ptx(${target}): there is no source")
    endif()
    if(NOT arg_ARCH)
        set(arg_ARCH sm_80)
    endif()
    set(files)
    foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
        get_filename_component(source "${source}" ABSOLUTE)
        get_filename_component(name "${source}" NAME)
        set(ptx "${CMAKE_CURRENT_BINARY_DIR}/${name}")
        if(name MATCHES "\\.cu$")
            _ptxi_find_nvcc(nvcc)
            string(REGEX REPLACE "\\.cu$" ".ptx" ptx "${ptx}")
            set(command "${nvcc}" -ptx -arch=${arg_ARCH} -MD -MF "${ptx}.d" ${arg_OPTIONS} -o "${ptx}" "${source}")
        else()
            set(command ${CMAKE_COMMAND} -E copy "${source}" "${ptx}")
        endif()
        set(depfile)
        if(name MATCHES "\\.cu$" AND (CMAKE_GENERATOR MATCHES "Ninja" OR
                (CMAKE_GENERATOR MATCHES "Makefiles" AND NOT CMAKE_VERSION VERSION_LESS 3.20)))
            set(depfile DEPFILE "${ptx}.d")
        endif()
        add_custom_command(OUTPUT "${ptx}" COMMAND ${command} COMMAND ptxi::command check "${ptx}"
            DEPENDS "${source}" ${depfile} COMMENT "PTX of ${name}" VERBATIM)
        list(APPEND files "${ptx}")
    endforeach()
    add_custom_target(${target} ALL DEPENDS ${files})
    set_target_properties(${target} PROPERTIES PTX_FILES "${files}")
    set(${target}_PTX_FILES "${files}" PARENT_SCOPE)
endfunction()

function(ptxi_discover_tests program)
    cmake_parse_arguments(arg "EXEC" "FRAMEWORK;CHECK;PREFIX" "ARGS;PROPERTIES" ${ARGN})
    if(NOT arg_FRAMEWORK MATCHES "^(GTest|Catch2|doctest)$" OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ptxi_discover_tests(${program}): expected FRAMEWORK GTest, Catch2 or doctest")
    endif()
    set(runner)
    if(arg_EXEC OR arg_CHECK)
        get_target_property(command ptxi::command IMPORTED_LOCATION)
        set(runner "${command}" exec)
        if(arg_CHECK STREQUAL "all")
            list(APPEND runner --check)
        elseif(arg_CHECK)
            list(APPEND runner --check=${arg_CHECK})
        endif()
    endif()
    set(tests "${CMAKE_CURRENT_BINARY_DIR}/${program}_ptxi_tests.cmake")
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${program}_ptxi_include.cmake")
    add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS "${tests}"
        COMMAND ${CMAKE_COMMAND} -D "PROGRAM=$<TARGET_FILE:${program}>" -D "FRAMEWORK=${arg_FRAMEWORK}"
            -D "RUNNER=${runner}" -D "PREFIX=${arg_PREFIX}" -D "ARGUMENTS=${arg_ARGS}"
            -D "PROPERTIES=${arg_PROPERTIES}" -D "OUTPUT=${tests}" -P "${_ptxi_functions_dir}/ptxiDiscover.cmake"
        VERBATIM)
    file(WRITE "${include}" "if(EXISTS \"${tests}\")\n    include(\"${tests}\")\nelse()\n"
        "    add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()
