# mount(8) looks for helpers in /sbin alone: for mount.cellfs, and for
# mount.fuse.cellfs where it remounts what the kernel calls fuse.cellfs. An
# installation into /usr or /usr/local puts the links there, any other beside
# its own programs.
if(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
	set(folder "$ENV{DESTDIR}/sbin")
else()
	set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/sbin")
endif()
file(MAKE_DIRECTORY "${folder}")
foreach(name mount.cellfs mount.fuse.cellfs)
	message(STATUS "Installing: ${folder}/${name}")
	file(CREATE_LINK "${CMAKE_INSTALL_PREFIX}/${helper_link}"
		"${folder}/${name}" SYMBOLIC)
endforeach()
